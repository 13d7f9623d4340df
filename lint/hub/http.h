// One GET over HTTP, through libcurl. The library is loaded when it is first needed: with all that
// it depends on it would take longer to bind than linting a folder does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kvbudget {

struct HttpRequest {
  std::string url;
  std::string bearer_token;  ///< empty: none is sent; never sent on to another host
  std::optional<std::pair<uint64_t, uint64_t>> range;  ///< first and last byte
  uint64_t max_bytes = uint64_t{16} << 20;             ///< a longer answer is an error
};

struct HttpResponse {
  long status = 0;
  std::string body;
  std::string error;  ///< no answer: "could not resolve host …"; empty when there is one
};

/// Never throws. Redirects are followed; 10 s to connect, 60 s in all.
HttpResponse http_get(const HttpRequest& request);

}  // namespace kvbudget
