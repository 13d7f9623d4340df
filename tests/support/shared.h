// The collection of real files that stands beside a developer's checkout. Tests that read it carry
// the tag [corpus] and pass with a message where it is absent.
#pragma once

#include <string>

namespace kvbudget::test {

/// Root of the collection: $KVB_SHARED, else ../shared beside the repository; empty when absent.
std::string shared_root();

/// Path of a file in it, empty when absent.
std::string shared_file(const std::string& path);

}  // namespace kvbudget::test
