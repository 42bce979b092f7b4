# Shared by the scripts beside it: steps with their times, and what a bare machine lacks.

# Swift Testing begins all tests at once unless it is told otherwise. Each step of one then waits for a
# step of all others, and what a test sets a limit for is mostly waiting.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(getconf _NPROCESSORS_ONLN)))

steps_start=$SECONDS
steps_done=()
begun_names=()
begun=()
begun_outputs=()
steps_not_run=()

# Sets `processor_seconds` to what processors have worked so far for the commands that have ended: what
# a step costs on any machine, however busy.
count_processor_seconds() {
  local file
  file=$(mktemp)
  # Not in a pipe: a shell of its own would tell of its own commands.
  times > "$file"
  processor_seconds=$(
    awk 'NR == 2 {
      for (i = 1; i <= 2; i++) { split($i, part, "[ms]"); sum += part[1] * 60 + part[2] }
      printf "%d", sum
    }' "$file")
  rm -f "$file"
}

# step NAME COMMAND...: runs a command under a heading and notes the seconds that it took, and those of
# processors.
step() {
  local name=$1 start=$SECONDS start_processor
  count_processor_seconds
  start_processor=$processor_seconds
  shift
  printf '\n==> %s\n' "$name"
  if ! "$@"; then
    printf '\nfailed: %s (%d s)\n' "$name" $((SECONDS - start)) >&2
    exit 1
  fi
  count_processor_seconds
  steps_done+=("$(printf '%6d s %6d s  %s' $((SECONDS - start)) \
    $((processor_seconds - start_processor)) "$name")")
}

# begin NAME COMMAND...: starts a command beside the steps that follow. What it prints is kept until
# `await NAME`, the step that waits for it. All end with the script.
begin() {
  local name=$1 output
  output=$(mktemp)
  printf '\n==> %s, beside what follows\n' "$name"
  shift
  # With job control it is a group of processes, which can be ended as one.
  set -m
  "$@" > "$output" 2>&1 < /dev/null &
  begun_names+=("$name")
  begun+=("$!")
  begun_outputs+=("$output")
  set +m
  trap end_begun EXIT
}

# What was printed by commands that nobody has waited for may be why a step has failed, or a failure of
# its own.
end_begun() {
  local number
  for number in "${!begun[@]}"; do
    kill -- -"${begun[$number]}" 2> /dev/null || true
    printf '\n==> %s, not waited for; the last that it printed:\n' "${begun_names[$number]}"
    # The linker warns of what the sanitizers add, a line for each.
    grep --text -v 'gold: warning: Cannot export' "${begun_outputs[$number]}" | tail -n 40 || true
    rm -f "${begun_outputs[$number]}"
  done
}

await() {
  local number status=0
  for number in "${!begun[@]}"; do
    if [ "${begun_names[$number]}" = "$1" ]; then break; fi
  done
  [ "${begun_names[$number]}" = "$1" ] || return
  wait "${begun[$number]}" || status=$?
  cat "${begun_outputs[$number]}"
  rm -f "${begun_outputs[$number]}"
  unset "begun[$number]"
  return "$status"
}

# not_run NAME REASON: for a step that this machine cannot do; listed at the end.
not_run() {
  printf '\n==> %s: not run, %s\n' "$1" "$2"
  steps_not_run+=("$1: $2")
}

finish() {
  count_processor_seconds
  printf '\n%8s %8s\n' time processor
  printf '%s\n' "${steps_done[@]}"
  printf '%6d s %6d s  in all\n' $((SECONDS - steps_start)) "$processor_seconds"
  if [ ${#steps_not_run[@]} -gt 0 ]; then
    printf '\nNot run:\n'
    printf '  %s\n' "${steps_not_run[@]}"
  fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# The library and the programs that the build and the tests need, and other Debian packages by name.
install_requirements() {
  if ! command -v swift > /dev/null; then
    echo "The Swift toolchain (6.2 or newer) is missing: https://www.swift.org/install" >&2
    return 1
  fi
  case $(uname -s) in
    Linux) install_with_apt liblmdb-dev zlib1g-dev libzstd-dev lmdb-utils pkg-config python3 "$@" ;;
    Darwin) install_with_brew ;;
    *)
      echo "Install LMDB 0.9, zlib and zstd with their headers, LMDB's pkg-config file, and Python 3." >&2
      pkg-config --exists lmdb
      ;;
  esac
}

# with_lmdb_python COMMAND...: runs a script with a Python that has py-lmdb: the one that is called
# python3, the system's own, for which Debian has a package, or one of ours with the one from PyPI.
with_lmdb_python() {
  local python
  for python in python3 /usr/bin/python3 .build/python/bin/python; do
    if "$python" -c "import lmdb" 2> /dev/null; then
      "$python" "$@"
      return
    fi
  done
  python3 -m venv .build/python
  .build/python/bin/python -m pip install --quiet lmdb
  .build/python/bin/python "$@"
}

# The Debian packages of these names, where they are missing.
install_with_apt() {
  local packages=() package
  for package in "$@"; do
    if ! dpkg-query --show --showformat='${Status}\n' "$package" 2> /dev/null \
      | grep -q '^install ok installed$'; then
      packages+=("$package")
    fi
  done
  # Another Python or pkg-config than Debian's does as well.
  if command -v python3 > /dev/null; then packages=("${packages[@]/%python3/}"); fi
  if command -v pkg-config > /dev/null; then packages=("${packages[@]/#pkg-config/}"); fi
  # shellcheck disable=SC2206 # Drops the names that were emptied.
  packages=(${packages[@]:-})
  if [ ${#packages[@]} -eq 0 ]; then return 0; fi
  if ! command -v apt-get > /dev/null; then
    echo "Install these, or what your system calls them: ${packages[*]}" >&2
    return 1
  fi
  echo "Installing ${packages[*]}"
  as_root apt-get update --quiet --quiet
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet "${packages[@]}"
}

install_with_brew() {
  if pkg-config --exists lmdb libzstd 2> /dev/null; then return 0; fi
  if command -v brew > /dev/null; then
    brew install lmdb zstd pkg-config
  else
    echo "Install LMDB 0.9, zstd and pkg-config, for example with Homebrew: brew install lmdb zstd pkg-config" >&2
    return 1
  fi
}
