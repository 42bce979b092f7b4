#include "lifetime.h"

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>

void stress_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }
#else
// Not known elsewhere: children of a campaign that is killed itself must be ended by hand.
void stress_end_with_parent(void) {}
#endif
