import type { TSchema } from 'typebox'
import {
  CreatedExchange,
  CreatedRequest,
  Currency,
  ExchangeList,
  ExchangeRecord,
  ExchangeRequest,
  ExchangeStatusAnswer,
  Execution,
  ListedExchange,
  ListedRequest,
  QuoteFees,
  RateQuote,
} from './cross-chain.ts'
import { CreateExchangeBody } from './cross-chain-requests.ts'
import { DefiCurrency, DexExchange, DexExchangeList, DexPart, SubRoute, SwapQuote, SwapRoute } from './defi.ts'
import { BuildSwapBody, SendApprovalBody, SendSwapBody } from './defi-requests.ts'
import { ErrorBody, Problem } from './errors.ts'
import type { RouteDefinition, RouteResponse } from './route-definition.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

/** Schemas with a name in the document. All others are inlined. */
const namedSchemas: Readonly<Record<string, TSchema>> = {
  BuildSwapBody,
  CreateExchangeBody,
  CreatedExchange,
  CreatedRequest,
  Currency,
  DefiCurrency,
  DexExchange,
  DexExchangeList,
  DexPart,
  ErrorBody,
  ExchangeList,
  ExchangeRecord,
  ExchangeRequest,
  ExchangeStatusAnswer,
  Execution,
  ListedExchange,
  ListedRequest,
  Problem,
  QuoteFees,
  RateQuote,
  SendApprovalBody,
  SendSwapBody,
  SubRoute,
  SwapQuote,
  SwapRoute,
}
const schemaNames = new Map<unknown, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]))

const statusPhrases: Readonly<Record<number, string>> = {
  400: 'The request is invalid; `errors` lists every problem.',
  401: 'The API key is missing or invalid.',
  403: 'The API key does not have the required permission.',
  404: 'The requested object does not exist.',
  408: 'The request took too long to arrive.',
  409: 'The request conflicts with an earlier one.',
  410: 'The rateId has expired; a new quote is in `errors[0].requote`.',
  413: 'The body is too large.',
  414: 'The URL is too long.',
  415: 'The content type or encoding is not plain JSON.',
  422: 'The request is valid but cannot be fulfilled.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  451: 'Rejected by compliance screening.',
  500: 'Internal error.',
  503: 'Temporarily unavailable; retry after `Retry-After` seconds.',
}

/** Converts a schema to plain JSON and replaces nested named schemas with references. */
function toPlainJson(value: unknown, isTopLevel: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => toPlainJson(item, false))
  if (typeof value !== 'object' || value === null) return value as Json
  const name = isTopLevel ? undefined : schemaNames.get(value)
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlainJson(member, false)]))
}

function listParameters(route: RouteDefinition): Json[] {
  const query = (route.query ?? {}) as { properties?: Record<string, TSchema>; required?: readonly string[] }
  const list: Json[] = Object.entries(query.properties ?? {}).map(([name, schema]) => {
    const {
      description = '',
      examples,
      ...rest
    } = schema as TSchema & { description?: string; examples?: readonly unknown[] }
    const example = examples?.[0]
    return {
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      description,
      schema: toPlainJson(rest, true),
      ...(example === undefined ? {} : { example: example as Json }),
    }
  })
  if (route.method === 'POST') {
    list.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'A unique text of your choice; all API keys of a partner share one set of idempotency keys. For 24 hours a request with the same key and the same body returns the stored response; the same key with another body is rejected with 409. Two bodies are the same if all members of this operation have the same text: `0.10` differs from `0.1`, and `BTC` from `btc`. Member order, whitespace, unknown members and other headers are not compared. A rejected request does not use up its key.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    })
  }
  return list
}

function toResponse(response: RouteResponse): JsonObject {
  const requestId = { 'X-Request-Id': { description: 'Identifies this request.', schema: { type: 'string' } } }
  if (response.schema === undefined && response.contentType === undefined)
    return { description: response.description, headers: requestId }
  const contentType = response.contentType ?? 'application/json'
  const schema: Json = response.schema === undefined ? { type: 'string' } : toPlainJson(response.schema, false)
  return { description: response.description, headers: requestId, content: { [contentType]: { schema } } }
}

function toOperation(route: RouteDefinition): JsonObject {
  const responses: Record<string, Json> = {}
  for (const [status, response] of Object.entries(route.success)) responses[status] = toResponse(response)
  for (const status of route.errors) responses[status] = { $ref: `#/components/responses/Error${status}` }
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: route.access === 'public' ? [] : [{ apiKey: [] }],
    parameters: listParameters(route),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: toPlainJson(route.body, false) } } },
        }),
    responses,
  }
}

/** Builds the OpenAPI 3.1 document from the schemas that the server validates and serialises with. */
export function openApiDocument(routes: readonly RouteDefinition[], { serverUrl }: { serverUrl: string }): JsonObject {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = toOperation(route)
    paths[route.path] = path
  }
  const statuses = [...new Set(routes.flatMap((route) => [...route.errors]))].sort((a, b) => a - b)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Swapyard Partner Exchange API',
      version: '1.0.0',
      description: `Quote a rate, create an exchange, deposit, poll the status. All error codes: ${serverUrl}/docs/errors`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, toPlainJson(schema, true)]),
      ),
      responses: Object.fromEntries(
        statuses.map((status) => [
          `Error${status}`,
          {
            description: statusPhrases[status] ?? 'Error.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
          },
        ]),
      ),
    },
  }
}
