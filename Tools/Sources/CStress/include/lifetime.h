#pragma once

/// Has the kernel kill this process when the one that started it ends, however that comes.
void stress_end_with_parent(void);
