#include "ops/promotion.h"
namespace tpu::ops { Table sort_table() { return {}; } }
