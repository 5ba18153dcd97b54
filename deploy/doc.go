// Package deploy has what deploys the service: a Helm chart, a container file, a Compose
// file and units of systemd. docs/deploying.md says how to use them. Its tests hold them to
// the settings of the service; check is a module of its own with the tools that judge them.
package deploy
