// Asks the service at an address for a gradient, and what it says of a mistake; prints both.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	generated "gradwire.example/service/generated"
)

func request(program string) generated.GradientRequest {
	request := generated.NewGradientRequest(program)
	request.SetVariables(map[string]interface{}{
		"x": []float64{-1.2, 0.5},
		"y": map[string]interface{}{"value": 1.5, "dtype": "float32"},
	})
	request.SetSources(map[string][]string{"at": {"x", "y"}})
	return *request
}

func main() {
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: os.Args[1]}}
	compute := generated.NewAPIClient(configuration).ComputeAPI
	ctx := context.Background()
	answer, _, err := compute.Gradient(ctx).GradientRequest(request(os.Args[2])).Execute()
	if err != nil {
		panic(err)
	}
	_, _, err = compute.Gradient(ctx).GradientRequest(request(os.Args[3])).Execute()
	var refused *generated.GenericOpenAPIError
	if !errors.As(err, &refused) {
		panic(err)
	}
	problem := refused.Model().(generated.Problem)
	told := map[string]interface{}{"gradients": answer.Gradients, "code": problem.Code}
	json.NewEncoder(os.Stdout).Encode(told)
}
