// LMDB's header, where LMDB comes from a package. See `Package.swift`.
#include <clmdb.h>
