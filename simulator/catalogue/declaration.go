package catalogue

import "netsim/simulator/document"

// Component returns a new component of a version of the model, with default
// parameters.
func (e Entry) Component(name, version string) document.Component {
	return document.Component{
		Type: e.Type, TrafficType: e.TrafficType, Model: e.Model, Name: name, Version: version,
		TypedParameters: e.defaults(), AllowedComponents: document.Allowed(e.Type), Components: []document.Ref{},
	}
}

// Container returns a new container of the model.
func (e Entry) Container(name, version string) document.Container {
	return document.Container{
		Type: e.Type, Model: e.Model, Name: name, Version: version,
		AllowedComponents: document.Allowed(e.Type), Components: []document.Ref{},
	}
}

// Application returns a new application of the model.
func (e Entry) Application(name, version string) document.Application {
	return document.Application{
		Type: e.Type, TrafficType: e.TrafficType, Model: e.Model, Name: name, Version: version,
		TypedParameters: e.defaults(),
	}
}

func (e Entry) defaults() document.Params {
	p := document.Params{}
	Fill(p, e.Parameters)
	return p
}
