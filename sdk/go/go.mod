module netsim/sdk/go

go 1.26.0
