import { adminActions, approverOf } from './admin-actions.ts'
import type { AdminRoute } from './admin-routes.ts'
import { describeParameters } from './openapi-parameters.ts'
import { componentHeaders, componentResponses } from './openapi-responses.ts'
import { componentSchemas, exampleOf, type Json, type JsonObject, toPlainJson } from './openapi-schemas.ts'

const tags: Readonly<Record<AdminRoute['tag'], string>> = {
  Actions: 'What an operator does. Each has a reason and a preview, and some need a second person.',
  Reads: 'What an operator sees.',
  Session: 'Logins, second factors, sessions and approvals.',
}
const openErrors = [400, 401, 403, 404, 405, 408, 414, 429, 431, 500, 503] as const
const postErrors = [...openErrors, 409, 413, 415] as const

const csrf = {
  name: 'X-Swapyard-CSRF',
  in: 'header',
  required: false,
  description: '`csrf` of the session. Required with a cookie; not with a bearer token.',
  schema: { type: 'string', minLength: 1, pattern: '^[A-Za-z0-9_-]+$' },
  example: 'q3Jt0aXkR1c',
}

function listParameters({ method, query, role }: AdminRoute): Json[] {
  const list = describeParameters('query', query)
  return method === 'POST' && role !== 'open' ? [...list, csrf] : list
}

function describe(route: AdminRoute): string {
  if (route.role === 'open') return route.description
  const action = Object.values(adminActions).find(({ path }) => path === route.path)
  const second = action?.twoPersons ? ` A second person with the role \`${approverOf(action)}\` approves it.` : ''
  return `${route.description}\n\nLeast role: \`${route.role}\`.${second}`
}

function toOperation(operationId: string, route: AdminRoute): JsonObject {
  const { tag, summary, method, role, body, success } = route
  const content = {
    'application/json': { schema: toPlainJson(success.schema, false), example: exampleOf(success.schema) },
  }
  const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
  const errors = method === 'POST' ? postErrors : openErrors
  return {
    operationId,
    tags: [tag],
    summary,
    description: describe(route),
    security: role === 'open' ? [] : [{ cookie: [] }, { bearer: [] }],
    parameters: listParameters(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: toPlainJson(body, false), example: exampleOf(body) } },
          },
        }),
    responses: {
      [success.status]: { description: success.description, headers, content },
      ...Object.fromEntries(errors.map((status) => [status, { $ref: `#/components/responses/Error${status}` }])),
    },
  }
}

/** Names of components of a kind that are referred to, also by other components. */
function referredTo(
  value: unknown,
  kind: string,
  all: Readonly<Record<string, unknown>>,
  found = new Set<string>(),
): Set<string> {
  for (const [, name = ''] of JSON.stringify(value).matchAll(new RegExp(`"#/components/${kind}/([\\w-]+)"`, 'g'))) {
    if (found.has(name)) continue
    found.add(name)
    referredTo(all[name], kind, all, found)
  }
  return found
}

const pick = (all: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)))

/** Builds the OpenAPI 3.1 document of the admin API. */
export function adminOpenApiDocument(
  operations: Readonly<Record<string, AdminRoute>>,
  { serverUrl, cookie }: Readonly<{ serverUrl: string; cookie: string }>,
): JsonObject {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, route] of Object.entries(operations))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(operationId, route) }
  const responses = componentResponses([...postErrors].sort((a, b) => a - b))
  const schemas = componentSchemas('operators')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Swapyard Admin API',
      version: '1.0.0',
      description:
        'For operators: the console and the command line call it. Log in, then read and act. Every action states a reason, which the audit log keeps.',
      contact: { name: 'The operator of this server', url: `${serverUrl}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl, description: 'This server.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        cookie: { type: 'apiKey', in: 'cookie', name: cookie, description: 'The session of a browser.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The session of the command line.' },
      },
      headers: pick(componentHeaders, referredTo([paths, responses], 'headers', componentHeaders)),
      schemas: pick(schemas, referredTo([paths, responses], 'schemas', schemas)),
      responses,
    },
  }
}
