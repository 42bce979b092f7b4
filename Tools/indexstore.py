"""Reads what the compiler notes in its index store: which file declares a symbol, and which name it.

The store lies in `.build/debug/index/store`. It is read with the toolchain's own library, whose
functions are declared in `indexstore/indexstore_functions.h` of the Swift project's fork of LLVM.
"""

import collections
import ctypes
import pathlib
import shutil

RECORD = 2  # indexstore_unit_dependency_kind_t
DECLARES, REFERS = 1 | 2, 4  # indexstore_symbol_role_t


class Text(ctypes.Structure):
  """indexstore_string_ref_t"""

  _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

  def __str__(self):
    return ctypes.string_at(self.data, self.length).decode() if self.data else ""


POINTER = ctypes.c_void_p
ON_NAME = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, Text)
ON_OBJECT = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, POINTER)


class Library:
  """libIndexStore of the toolchain that is used."""

  def __init__(self):
    swiftc = shutil.which("swiftc")
    if swiftc is None:
      raise OSError("there is no swiftc")
    folder = pathlib.Path(swiftc).resolve().parent.parent / "lib"
    found = [folder / name for name in ("libIndexStore.so", "libIndexStore.dylib")]
    self.library = ctypes.CDLL(str(next((path for path in found if path.exists()), found[0])))

  def call(self, name, result, *arguments):
    function = getattr(self.library, "indexstore_" + name)
    function.restype = result
    # Pointers come back as numbers, which would be handed on as 32 bits.
    return function(*(POINTER(it) if isinstance(it, int) else it for it in arguments))

  def open(self, name, *arguments):
    error = POINTER()
    opened = self.call(name, POINTER, *arguments, ctypes.addressof(error))
    if not opened:
      why = self.call("error_get_description", ctypes.c_char_p, error.value)
      raise OSError((why or b"cannot be read").decode())
    return opened

  def names(self, name, *arguments):
    names = []

    @ON_NAME
    def found(_, text):
      names.append(str(text))
      return True

    self.call(name, ctypes.c_bool, *arguments, None, found)
    return names

  def each(self, name, body, *arguments):
    @ON_OBJECT
    def found(_, it):
      body(it)
      return True

    self.call(name, ctypes.c_bool, *arguments, None, found)


class Index:
  """The symbols of the files of one module.

  `declared` has the file that declares a symbol, by the symbol's USR; `named` for each file the
  names of the symbols that it names, by their USRs.
  """

  def __init__(self, store, module, root):
    """Files are named from `root` on; one that was not compiled as it is now is refused."""
    self.declared, self.named = {}, collections.defaultdict(dict)
    library = Library()
    opened = library.open("store_create", str(store).encode())
    newest = {}
    for name in library.names("store_units_apply_f", opened, ctypes.c_uint(0)):
      unit = library.open("unit_reader_create", opened, name.encode())
      if str(library.call("unit_reader_get_module_name", Text, unit)) == module:
        path = pathlib.Path(str(library.call("unit_reader_get_main_file", Text, unit)))
        written = (pathlib.Path(store) / "v5" / "units" / name).stat().st_mtime
        if path.is_relative_to(root) and path.exists() and newest.get(path, (0,))[0] < written:
          newest[path] = (written, self.records(library, unit))
      library.call("unit_reader_dispose", None, unit)
    for path in sorted(pathlib.Path(root).rglob("*.swift")):
      if path not in newest or newest[path][0] < path.stat().st_mtime:
        raise OSError(f"{path} has changed since it was compiled: build first")
    for path, (_, records) in newest.items():
      for record in records:
        self.read(library, opened, record, str(path.relative_to(root)))
    library.call("store_dispose", None, opened)

  @staticmethod
  def records(library, unit):
    records = []

    def found(dependency):
      if library.call("unit_dependency_get_kind", ctypes.c_int, dependency) == RECORD:
        records.append(str(library.call("unit_dependency_get_name", Text, dependency)))

    library.each("unit_reader_dependencies_apply_f", found, unit)
    return records

  def read(self, library, opened, record, file):
    reader = library.open("record_reader_create", opened, record.encode())

    def found(occurrence):
      symbol = library.call("occurrence_get_symbol", POINTER, occurrence)
      roles = library.call("occurrence_get_roles", ctypes.c_uint64, occurrence)
      usr = str(library.call("symbol_get_usr", Text, symbol))
      # An extension is no declaration of what it extends.
      if roles & DECLARES and not usr.startswith("s:e:"):
        self.declared.setdefault(usr, file)
      elif roles & REFERS:
        self.named[file][usr] = str(library.call("symbol_get_name", Text, symbol))

    library.each("record_reader_occurrences_apply_f", found, reader)
    library.call("record_reader_dispose", None, reader)
