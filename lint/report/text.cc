#include "lint/options.h"
