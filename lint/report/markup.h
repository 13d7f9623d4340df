// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace kvbudget {

/// `text` as the content of an element or a quoted attribute: valid UTF-8, without what would end
/// it or could not stand in XML 1.0 at all.
std::string escaped(std::string_view text);

}  // namespace kvbudget
