// The entry to libFuzzer for programs with a main of their own; LLVM documents it in
// "libFuzzer", "Using libFuzzer as a library".
#ifndef LARDER_CFUZZER_H
#define LARDER_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(
    int *argumentCount, char ***arguments, int (*testOneInput)(const uint8_t *bytes, size_t count));

#endif
