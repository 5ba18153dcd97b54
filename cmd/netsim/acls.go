package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"netsim/cmd/operate"
)

// acls prints the rights that each user of Kafka needs.
type acls struct {
	PrincipalPrefix string `help:"What the principals begin with; a role, or migrate, tools or consumer, follows." default:"User:netsim-" placeholder:"TEXT"`
	TopicPrefix     string `help:"What the topics begin with." env:"NETSIM_TOPIC_PREFIX" default:"netsim." placeholder:"TEXT"`
	JSON            bool   `help:"Print JSON instead of commands."`
}

// Run prints a command of Kafka for each right.
func (a acls) Run() error {
	rights := operate.KafkaRights(a.TopicPrefix)
	if a.JSON {
		type row struct {
			Principal string `json:"principal"`
			operate.KafkaRight
		}
		all := make([]row, len(rights))
		for i, r := range rights {
			all[i] = row{a.PrincipalPrefix + r.User, r}
		}
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(all)
	}
	for _, r := range rights {
		pattern := ""
		if r.Prefixed {
			pattern = " --resource-pattern-type prefixed"
		}
		_, err := fmt.Printf("kafka-acls.sh --bootstrap-server \"$BROKERS\" --command-config \"$ADMIN\" --add --allow-principal '%s%s' --operation %s --%s '%s'%s\n",
			a.PrincipalPrefix, r.User, strings.Join(r.Operations, " --operation "), r.Resource, r.Name, pattern)
		if err != nil {
			return err
		}
	}
	return nil
}
