// validatorUrl: null, for Swagger UI would send the description's address to an outside host.
SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
