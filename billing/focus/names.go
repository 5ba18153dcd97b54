package focus

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"netsim/rating"
)

// TagPrefix is that of the tags that the service itself sets.
const TagPrefix = "netsim:"

// service is what a billed item belongs to, in the words of FOCUS.
type service struct{ category, subcategory, name, meter string }

func serviceOf(eventType string) service {
	switch eventType {
	case "cluster":
		return service{"Compute", "Other (Compute)", "Simulation Compute", "Compute Time"}
	case "storage":
		return service{"Storage", "Object Storage", "Simulation Storage", "Stored Data"}
	case "workspace":
		return service{"Developer Tools", "Other (Developer Tools)", "Workspaces", "Workspaces in Use"}
	}
	return service{"Other", "Other (Other)", "Other Services", "Use"}
}

// unitOf names the unit of a rate for FOCUS's unit format, singular.
func unitOf(model rating.Model, name, size string) string {
	switch {
	case model.Per != "":
		return model.Per
	case name == "bytes" && bytes(size) != "":
		return bytes(size)
	case size != "1" || !word(name):
		return "Unit"
	}
	return strings.ToUpper(name[:1]) + strings.TrimSuffix(name[1:], "s")
}

// bytes names a number of bytes, "" for one without a name.
func bytes(size string) string {
	return map[string]string{
		"1": "B", "1000": "KB", "1000000": "MB", "1000000000": "GB", "1000000000000": "TB",
		"1024": "KiB", "1048576": "MiB", "1073741824": "GiB", "1099511627776": "TiB",
	}[size]
}

func word(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
}

// resourceName is the name that someone gave the resource, which an id is not.
func (c *charge) resourceName() string {
	if c.ResourceID == "" || c.ItemName == c.ResourceID {
		return ""
	}
	return strings.TrimSpace(c.ItemName)
}

func (c *charge) resourceType() string {
	switch c.ResourceType {
	case "":
		return ""
	case "mapping_file":
		return "Mapping File"
	case "results":
		return "Simulation Results"
	}
	return strings.ToUpper(c.ResourceType[:1]) + c.ResourceType[1:]
}

// priceID names a row of the price list by its parent and its id.
func (c *charge) priceID() string { return fmt.Sprintf("%s/%d", c.RateName, c.RateID) }

// priceDetails tells two prices of a SKU apart.
func (c *charge) priceDetails() string {
	details := map[string]any{"x_RatePeriod": c.Period}
	if c.RateType != "" {
		details["x_RateType"] = c.RateType
	}
	if c.MinimumPeriod != "" {
		details["x_MinimumPeriod"] = c.MinimumPeriod
	}
	if c.model.Tiered {
		details["x_TierStart"] = c.TierStart
		if c.TierEnd != 0 {
			details["x_TierEnd"] = c.TierEnd
		}
	}
	return object(details)
}

// subAccountName is the workspace's name; FOCUS wants one wherever there is an
// id.
func (c *charge) subAccountName() string {
	if c.WorkspaceName == "" {
		return c.WorkspaceID
	}
	return c.WorkspaceName
}

func (c *charge) subAccountType() string {
	if c.WorkspaceID == "" {
		return ""
	}
	return "Workspace"
}

func (c *charge) tags() string {
	tags := map[string]any{}
	if c.UserID != "" {
		tags[TagPrefix+"userId"] = c.UserID
	}
	if c.SandboxID != "" {
		tags[TagPrefix+"sandboxId"] = c.SandboxID
	}
	if len(tags) == 0 {
		return ""
	}
	return object(tags)
}

// eventHash is that of the newest billing event that counted, as
// GET /billing/events has it: the row's link to the account's chain.
func (c *charge) eventHash() string {
	if c.LastEventHash == "" {
		return ""
	}
	return "sha256:" + c.LastEventHash
}

// object serialises texts and numbers, by key.
func object(members map[string]any) string {
	text, _ := json.Marshal(members) //nolint:errchkjson // texts and numbers always encode
	return string(text)
}
