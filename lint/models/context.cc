#include "lint/models/context.h"
