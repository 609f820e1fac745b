/** The request as code of other languages. */

import type { Query } from "../model/document.ts";
import type { JsonObject } from "../service/json.ts";
import { goString, javascriptLiteral, jsonText, juliaString, pythonLiteral, pythonString, rString, shellWord } from "./quoting.ts";

export interface Asked {
  /** The service's address, without a slash at its end. */
  readonly address: string;
  readonly query: Query;
  readonly document: JsonObject;
  /** Whether requests need a key; code reads it from the environment. */
  readonly hasKey: boolean;
}

export interface Language {
  readonly id: string;
  readonly title: string;
  /** What must be installed. */
  readonly needs: string;
  readonly write: (asked: Asked) => string;
}

/** Longer requests are not written into the code, which then reads them from this file. */
export const REQUEST_FILE = "request.json";
const MOST_CHARACTERS = 6000;

export function isInFile({ document }: Asked): boolean {
  return JSON.stringify(document).length > MOST_CHARACTERS;
}

/** The member of the answer that people want, by query. */
const WANTED = { gradient: "gradients", jacobian: "jacobian", hessian: "hessian", evaluate: "outputs" } as const;

function url({ address, query }: Asked): string {
  return `${address}/v1/${query}`;
}

function curl(asked: Asked): string {
  const body = isInFile(asked) ? `@${REQUEST_FILE}` : shellWord(jsonText(asked.document));
  const key = asked.hasKey ? ` \\\n  -H "Authorization: Bearer $GRADWIRE_API_KEY"` : "";
  return `curl -s ${shellWord(url(asked))} -H 'Content-Type: application/json'${key} \\\n  -d ${body}\n`;
}

function sdk(asked: Asked): string {
  const { program, variables, sources } = asked.document;
  const options = sources === undefined ? "" : ", sources=sources";
  const lines = ["import gradwire", ""];
  if (isInFile(asked)) {
    lines.unshift("import json");
    lines.push(`with open("${REQUEST_FILE}", encoding="utf-8") as file:`, "    request = json.load(file)", "");
    lines.push(`program, variables = request["program"], request["variables"]`);
    if (sources !== undefined) lines.push(`sources = request["sources"]`);
  } else {
    lines.push(`program = ${pythonString(String(program))}`, `variables = ${pythonLiteral(variables ?? {})}`);
    if (sources !== undefined) lines.push(`sources = ${pythonLiteral(sources)}`);
  }
  const key = asked.hasKey ? "  # the key is read from GRADWIRE_API_KEY" : "";
  lines.push("", `client = gradwire.Client(${JSON.stringify(asked.address)})${key}`);
  lines.push(`answer = client.${asked.query}(program, variables${options})`);
  lines.push(asked.query === "evaluate" ? "print(answer.outputs)" : `print(answer.value, answer.${WANTED[asked.query]})`);
  return `${lines.join("\n")}\n`;
}

function httpx(asked: Asked): string {
  const inFile = isInFile(asked);
  const lines = [...(inFile ? ["import json"] : []), ...(asked.hasKey ? ["import os"] : []), ...(inFile || asked.hasKey ? [""] : []), "import httpx", ""];
  if (inFile) lines.push(`with open("${REQUEST_FILE}", encoding="utf-8") as file:`, "    request = json.load(file)");
  else {
    // Words for numbers that JSON lacks stay words in JSON.
    const program = `program = ${pythonString(String(asked.document["program"]))}`;
    const rest = Object.entries(asked.document).filter(([name]) => name !== "program");
    const members = rest.map(([name, value]) => `    ${JSON.stringify(name)}: ${pythonLiteral(value, "    ").replace(/-?float\("(nan|inf)"\)/g, word)},\n`);
    lines.push(program, `request = {\n    "program": program,\n${members.join("")}}`);
  }
  if (asked.hasKey) lines.push('headers = {"Authorization": f"Bearer {os.environ[\'GRADWIRE_API_KEY\']}"}');
  lines.push(`response = httpx.post(${JSON.stringify(url(asked))}, json=request${asked.hasKey ? ", headers=headers" : ""})`);
  lines.push("answer = response.json()", "if response.is_error:", '    raise RuntimeError(answer["detail"])', `print(answer["${WANTED[asked.query]}"])`);
  return `${lines.join("\n")}\n`;
}

function word(python: string): string {
  return python.includes("nan") ? '"NaN"' : python.startsWith("-") ? '"-Infinity"' : '"Infinity"';
}

function javascript(asked: Asked): string {
  const inFile = isInFile(asked);
  const head = inFile ? `import { readFile } from "node:fs/promises";\n\nconst body = await readFile("${REQUEST_FILE}", "utf8");\n` : `const request = ${javascriptLiteral(asked.document)};\n`;
  const key = asked.hasKey ? "    Authorization: `Bearer ${process.env.GRADWIRE_API_KEY}`,\n" : "";
  return `${head}const response = await fetch(${JSON.stringify(url(asked))}, {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
${key}  },
  body${inFile ? "" : ": JSON.stringify(request)"},
});
const answer = await response.json();
if (!response.ok) throw new Error(answer.detail);
console.log(answer.${WANTED[asked.query]});
`;
}

function go(asked: Asked): string {
  const inFile = isInFile(asked);
  const imports = [...(inFile ? ["bytes"] : []), "fmt", "io", "log", "net/http", ...(inFile || asked.hasKey ? ["os"] : []), ...(inFile ? [] : ["strings"])];
  const body = inFile
    ? `	content, err := os.ReadFile("${REQUEST_FILE}")
	if err != nil {
		log.Fatal(err)
	}
	body := bytes.NewReader(content)`
    : `	body := strings.NewReader(${goString(jsonText(asked.document))})`;
  const key = asked.hasKey ? `\n	request.Header.Set("Authorization", "Bearer "+os.Getenv("GRADWIRE_API_KEY"))` : "";
  return `package main

import (
${imports.map((name) => `	"${name}"`).join("\n")}
)

func main() {
${body}
	request, err := http.NewRequest("POST", ${JSON.stringify(url(asked))}, body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")${key}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 400 {
		log.Fatalf("%s: %s", response.Status, answer)
	}
	fmt.Println(string(answer))
}
`;
}

function julia(asked: Asked): string {
  const body = isInFile(asked) ? `read("${REQUEST_FILE}", String)` : juliaString(jsonText(asked.document));
  const key = asked.hasKey ? `, "Authorization" => "Bearer $(ENV["GRADWIRE_API_KEY"])"` : "";
  return `using HTTP, JSON

body = ${body}
headers = ["Content-Type" => "application/json"${key}]
response = HTTP.post(${juliaString(url(asked))}, headers, body)
answer = JSON.parse(String(response.body))
println(answer["${WANTED[asked.query]}"])
`;
}

function r(asked: Asked): string {
  const key = asked.hasKey ? `  req_auth_bearer_token(Sys.getenv("GRADWIRE_API_KEY")) |>\n` : "";
  const body = isInFile(asked) ? `req_body_file("${REQUEST_FILE}", type = "application/json")` : `req_body_raw(body, type = "application/json")`;
  const head = isInFile(asked) ? "" : `body <- ${rString(jsonText(asked.document))}\n`;
  return `library(httr2)

${head}response <- request(${JSON.stringify(url(asked))}) |>
${key}  ${body} |>
  req_perform()
answer <- resp_body_json(response, simplifyVector = TRUE)
print(answer$${WANTED[asked.query]})
`;
}

export const LANGUAGES: readonly Language[] = [
  { id: "curl", title: "curl", needs: "curl", write: curl },
  { id: "python", title: "Python", needs: "the SDK, gradwire", write: sdk },
  { id: "httpx", title: "Python without SDK", needs: "pip install httpx", write: httpx },
  { id: "javascript", title: "JavaScript", needs: "Node.js 18, Deno, Bun or a browser", write: javascript },
  { id: "go", title: "Go", needs: "no packages", write: go },
  { id: "julia", title: "Julia", needs: "the packages HTTP and JSON", write: julia },
  { id: "r", title: "R", needs: "R 4.1 with httr2 and jsonlite", write: r },
];
