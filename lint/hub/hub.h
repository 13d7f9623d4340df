// `--hub`: fetches what find_model() looks for from a model hub, once, into a folder that it knows
// how to read. Nothing else in the program touches the network.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace kvbudget {

struct HubOptions {
  std::string endpoint;  ///< $HF_ENDPOINT, without a slash at the end
  std::string token;     ///< $HF_TOKEN, may be empty
  std::string folder;    ///< holds org/name/config.json afterwards
};

/// From the environment: $HF_ENDPOINT, $HF_TOKEN, $XDG_CACHE_HOME or ~/.cache. `error` is filled
/// when something needed is missing.
HubOptions hub_options(std::string& error);

/// Safe to use from several threads.
class Hub {
 public:
  explicit Hub(HubOptions options) : options_(std::move(options)) {}

  const std::string& folder() const { return options_.folder; }

  /// Brings config.json and what belongs to it into the folder, unless it is there. The error names
  /// model and reason: "org/name: 401, the model is gated; set HF_TOKEN".
  std::string fetch(std::string_view model);

 private:
  std::string download(const std::string& model) const;
  std::string save(const std::string& model, const std::string& name, bool required) const;
  void save_weight_bytes(const std::string& model) const;

  HubOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::string> asked_;  // model -> error
};

}  // namespace kvbudget
