// Amounts as Kubernetes and Compose write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvbudget {

/// "16Gi", "500m", "1e3", "2": Kubernetes API reference, Quantity. Nothing for other text and for
/// negative amounts.
std::optional<double> parse_quantity(std::string_view text);

/// "2gb", "512m", "1073741824": Compose's byte values, powers of 1024.
std::optional<uint64_t> parse_compose_bytes(std::string_view text);

}  // namespace kvbudget
