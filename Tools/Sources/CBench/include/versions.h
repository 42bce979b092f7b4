// What the benchmark is linked with and was built by.
#ifndef CBENCH_VERSIONS_H
#define CBENCH_VERSIONS_H

const char *bench_lmdb_version(void);
const char *bench_sqlite_version(void);
const char *bench_compiler_version(void);

#endif
