// The benchmark's C half: a workload that every engine saves and reads, and LMDB driven directly
// from C, as the limit that the engines are measured against; and SQLite.
#ifndef CBENCH_H
#define CBENCH_H

#include "workload.h"
#include "store.h"
#include "durable.h"
#include "sqlite.h"
#include "search.h"
#include "rerun.h"
#include "memory.h"
#include "child.h"
#include "versions.h"

#endif
