package document

// Paths of the parameters that this package reads (completions.md 2.4).
const (
	pathUpLinks   = "NumUpLinks"
	pathPerUpper  = "NumUpLinksPerSwitch"
	pathCapacity  = "SwitchingCapacity"
	pathHash      = "EcmpHashMethod"
	pathBalancing = "LoadBalancingMethod"
	pathGap       = "LoadBalancingFlowlet.Gap"
	pathUpRate    = "NetworkInterface.UplinkNetworkInterface.DataRate"
	pathDownRate  = "NetworkInterface.DownlinkNetworkInterface.DataRate"
	pathDelay     = "NetworkInterface.TransmissionMedium.Delay"
	pathMSS       = "Transport.MSS"
	pathHeader    = "Transport.HeaderSize"
	pathGroup     = "LogicalGroupId"
)
