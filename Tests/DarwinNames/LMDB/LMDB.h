// LMDB's header with the types that Apple's systems give it. See `Tools/check-darwin`.

#include <inttypes.h>
#include <stddef.h>
#include <sys/types.h>

#define mode_t unsigned short
#include <lmdb.h>
#undef mode_t
