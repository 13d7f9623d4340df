#include "rules/exposure.h"

#include <string>

#include "rules/container.h"

namespace kvbudget {

std::optional<Exposure> exposure_of(const Deployment& d) {
  const Surroundings* around = d.start.around.get();
  if (around == nullptr || !is_service(d) || d.settings.is_true("headless")) return std::nullopt;
  const std::string host = d.settings.text("host");
  if (host.starts_with("127.") || host == "localhost" || host == "::1") return std::nullopt;
  if (!around->exposures.empty()) return around->exposures.front();
  if (around->host_network) return Exposure{"the network of its host", d.start.where};
  return std::nullopt;
}

bool names_api_key(const Deployment& d) {
  return d.settings.has("api-key") || d.env("VLLM_API_KEY") != nullptr;
}

bool has_api_key(const Deployment& d) {
  return names_api_key(d) || d.settings.opaque_words || d.start.around->more_variables;
}

}  // namespace kvbudget
