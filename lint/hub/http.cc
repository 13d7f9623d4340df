// Options and their meaning: libcurl 7.88, curl_easy_setopt(3).
#include "lint/hub/http.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <memory>

namespace kvbudget {
namespace {

/// The functions of libcurl that are used.
struct Curl {
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) set = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) info = nullptr;
  decltype(&curl_easy_strerror) text = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  bool complete = false;
};

template <typename Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const Curl& curl() {
  static const Curl functions = [] {
    Curl c;
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    c.complete =
        library != nullptr && load(library, "curl_easy_init", c.init) &&
        load(library, "curl_easy_setopt", c.set) && load(library, "curl_easy_perform", c.perform) &&
        load(library, "curl_easy_getinfo", c.info) && load(library, "curl_easy_strerror", c.text) &&
        load(library, "curl_easy_cleanup", c.cleanup);
    return c;
  }();
  return functions;
}

struct Body {
  std::string bytes;
  uint64_t max_bytes;
};

size_t append(char* data, size_t size, size_t count, void* to) {
  auto& body = *static_cast<Body*>(to);
  if (body.bytes.size() + size * count > body.max_bytes) return 0;  // ends the transfer
  body.bytes.append(data, size * count);
  return size * count;
}

}  // namespace

HttpResponse http_get(const HttpRequest& request) {
  constexpr long kConnectSeconds = 10;
  constexpr long kSeconds = 60;
  constexpr long kRedirects = 5;
  HttpResponse response;
  const Curl& c = curl();
  if (!c.complete) {
    response.error = "libcurl is not installed";
    return response;
  }
  const std::unique_ptr<CURL, decltype(c.cleanup)> handle(c.init(), c.cleanup);
  if (handle == nullptr) {
    response.error = "libcurl could not start";
    return response;
  }
  Body body{{}, request.max_bytes};
  c.set(handle.get(), CURLOPT_URL, request.url.c_str());
  c.set(handle.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  c.set(handle.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  c.set(handle.get(), CURLOPT_FOLLOWLOCATION, 1L);
  c.set(handle.get(), CURLOPT_MAXREDIRS, kRedirects);
  c.set(handle.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  c.set(handle.get(), CURLOPT_TIMEOUT, kSeconds);
  c.set(handle.get(), CURLOPT_NOSIGNAL, 1L);
  c.set(handle.get(), CURLOPT_USERAGENT, "kvbudget");
  c.set(handle.get(), CURLOPT_WRITEFUNCTION, &append);
  c.set(handle.get(), CURLOPT_WRITEDATA, static_cast<void*>(&body));
  if (!request.bearer_token.empty()) {
    c.set(handle.get(), CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    c.set(handle.get(), CURLOPT_XOAUTH2_BEARER, request.bearer_token.c_str());
  }
  std::string range;
  if (request.range) {
    range = std::to_string(request.range->first) + "-" + std::to_string(request.range->second);
    c.set(handle.get(), CURLOPT_RANGE, range.c_str());
  }
  const CURLcode code = c.perform(handle.get());
  c.info(handle.get(), CURLINFO_RESPONSE_CODE, &response.status);
  if (code == CURLE_WRITE_ERROR) {
    response.error =
        "the answer is larger than " + std::to_string(request.max_bytes >> 20) + " MiB";
  } else if (code != CURLE_OK) {
    response.error = c.text(code);
  }
  response.body = std::move(body.bytes);
  return response;
}

}  // namespace kvbudget
