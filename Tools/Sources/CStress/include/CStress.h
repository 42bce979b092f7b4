// What the stress campaigns need of C, one header for each noun.
#include "clock.h"
#include "delays.h"
#include "lifetime.h"
#include "raw_store.h"
#include "words.h"
