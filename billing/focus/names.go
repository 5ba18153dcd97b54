package focus

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"netsim/events"
	"netsim/rating"
)

// TagPrefix is the prefix of the tags that the service sets.
const TagPrefix = "netsim:"

// service classifies a billed item in the terms of FOCUS.
type service struct{ category, subcategory, name, meter string }

func serviceOf(eventType string) service {
	switch eventType {
	case events.MeterCluster:
		return service{"Compute", "Other (Compute)", "Simulation Compute", "Compute Time"}
	case events.MeterStorage:
		return service{"Storage", "Object Storage", "Simulation Storage", "Stored Data"}
	case events.MeterWorkspace:
		return service{"Developer Tools", "Other (Developer Tools)", "Workspaces", "Workspaces in Use"}
	}
	return service{"Other", "Other (Other)", "Other Services", "Use"}
}

// unitOf returns the unit of a rate in FOCUS's unit format, singular.
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

// bytes returns the unit of a number of bytes, "" if there is none.
func bytes(size string) string {
	return map[string]string{
		"1": "B", "1000": "KB", "1000000": "MB", "1000000000": "GB", "1000000000000": "TB",
		"1024": "KiB", "1048576": "MiB", "1073741824": "GiB", "1099511627776": "TiB",
	}[size]
}

func word(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
}

// resourceName returns the name that a person gave the resource, "" if it is
// only an id.
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

// priceID identifies a row of the price list by its SKU and its id.
func (c *charge) priceID() string { return fmt.Sprintf("%s/%d", c.RateName, c.RateID) }

// priceDetails distinguishes the prices of a SKU.
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

// subAccountName returns the workspace's name; FOCUS requires one where there is
// an id.
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

// eventHash returns the hash of the newest billing event of the row, as
// GET /billing/events shows it: the link to the account's chain.
func (c *charge) eventHash() string {
	if c.LastEventHash == "" {
		return ""
	}
	return "sha256:" + c.LastEventHash
}

// object encodes strings and numbers as JSON, by key.
func object(members map[string]any) string {
	text, _ := json.Marshal(members) //nolint:errchkjson // texts and numbers always encode
	return string(text)
}
