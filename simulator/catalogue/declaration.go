package catalogue

import "netsim/simulator/design"

// Component returns a new component of a version of the model, with default
// parameters.
func (e Entry) Component(name, version string) design.Component {
	return design.Component{
		Type: e.Type, TrafficType: e.TrafficType, Model: e.Model, Name: name, Version: version,
		TypedParameters: e.defaults(), AllowedComponents: design.Allowed(e.Type), Components: []design.Ref{},
	}
}

// Container returns a new container of the model.
func (e Entry) Container(name, version string) design.Container {
	return design.Container{
		Type: e.Type, Model: e.Model, Name: name, Version: version,
		AllowedComponents: design.Allowed(e.Type), Components: []design.Ref{},
	}
}

// Application returns a new application of the model.
func (e Entry) Application(name, version string) design.Application {
	return design.Application{
		Type: e.Type, TrafficType: e.TrafficType, Model: e.Model, Name: name, Version: version,
		TypedParameters: e.defaults(),
	}
}

func (e Entry) defaults() design.Params {
	p := design.Params{}
	Fill(p, e.Parameters)
	return p
}
