import { ExchangeEvent, PartnerChangeEvent, SwapEvent, WebhookTestEvent } from './events.ts'
import { describeParameters } from './openapi-parameters.ts'
import { componentHeaders, componentResponses, toResponses } from './openapi-responses.ts'
import { componentSchemas, exampleOf, type Json, type JsonObject, toPlainJson } from './openapi-schemas.ts'
import type { RouteDefinition } from './route-definition.ts'

const tags: Readonly<Record<RouteDefinition['tag'], string>> = {
  'Cross-chain': 'Exchanges between networks: currencies, quotes, creates, statuses.',
  DeFi: 'Swaps on one network, signed by the user: tokens, quotes, transactions, statuses.',
  Events: 'Changes of exchanges and swaps: webhooks, and a stream of the same events.',
  Rates: 'The public feed for rate monitors.',
  Service: 'Health of this server.',
  Partner: 'What you ask about yourself: balances, fees, limits, a report of all exchanges.',
  Sandbox: 'Controls of the local chains. They exist in the sandbox only.',
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique text of your choice; all secret API keys of a partner share one set of idempotency keys, and each publishable key has its own. For 24 hours a request with the same key and the same body returns the stored response; the same key with another body or for another operation is rejected with 409, so use one key for each attempt of an act. The stored response of a create has the status of that time: after a repeat read the status before you show the address. Two bodies are the same if all members of this operation have the same text: `0.10` differs from `0.1`, and `BTC` from `btc`. Optional members that are null, empty or absent are the same. Member order, whitespace, unknown members and other headers are not compared. A rejected request does not use up its key.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  example: 'order-4711/create/1',
}
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETag of a stored response. If it is current, the answer is 304 without a body.',
  schema: { type: 'string', minLength: 1, pattern: '^[\\x20-\\x7e]+$' },
  example: 'W/"5hJ0oZ1kq8gVtXb2mYcN7w"',
}
const ifModifiedSince = {
  name: 'If-Modified-Since',
  in: 'header',
  required: false,
  description: 'Time of a stored response. Ignored if `If-None-Match` is sent.',
  schema: { type: 'string', minLength: 1, pattern: '^[\\x20-\\x7e]+$' },
  example: 'Fri, 02 Jan 2026 03:04:05 GMT',
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Id of the last event that was received. Event sources of browsers send it when they reconnect.',
  schema: { type: 'string', minLength: 1 },
  example: '5f0d6c1e-93f4-4a86-8a1b-2f7d0c9e4b35',
}

function listParameters(route: RouteDefinition): Json[] {
  const list: Json[] = [...describeParameters('path', route.params), ...describeParameters('query', route.query)]
  if (route.method === 'POST') list.push(idempotencyKey)
  if (304 in route.success) list.push(ifNoneMatch)
  if (304 in route.success && route.path === '/v1/rates') list.push(ifModifiedSince)
  if (route.success[200]?.contentType === 'text/event-stream') list.push(lastEventId)
  return list
}

/** Scope and weight are part of the description, because generators ignore extensions. */
function describe({ description, access, cost, isPublishable }: RouteDefinition): string {
  if (access === 'public') return cost === 0 ? description : `${description} Weight ${cost}.`
  const permission = access === 'any' ? 'Any API key' : `Requires the scope \`${access}\``
  const pages = isPublishable ? ' Publishable keys may call it.' : ''
  return `${description}\n\n${permission}.${pages} Weight ${cost}.`
}

function toOperation(operationId: string, route: RouteDefinition): JsonObject {
  const { tag, summary, access, cost, body } = route
  return {
    operationId,
    tags: [tag],
    summary,
    description: describe(route),
    ...(access === 'public' || access === 'any' ? {} : { 'x-scope': access }),
    'x-weight': cost,
    security: access === 'public' ? [] : [{ apiKey: [] }],
    parameters: listParameters(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: toPlainJson(body, false), example: exampleOf(body) } },
          },
        }),
    responses: toResponses(route),
  }
}

/** What a receiver gets, and how it answers. */
const deliveries: JsonObject = {
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['Events'],
      summary: 'Receive an event',
      description:
        'Sent to the URL of each webhook that subscribed to the type; `webhook.test` to the one that is tested. Any status from 200 to 299 accepts it; after any other, a redirect or 10 seconds without an answer it is sent again, with the same body, for three days. The guide of webhooks explains the signature.',
      security: [],
      parameters: [
        {
          name: 'X-Swapyard-Signature',
          in: 'header',
          required: true,
          description:
            'HMAC-SHA256 of the time, a dot and the body with the secret of the webhook; two values for 24 hours after a rotation.',
          schema: { type: 'string' },
          example: 't=1767323045,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
        },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              anyOf: [ExchangeEvent, SwapEvent, PartnerChangeEvent, WebhookTestEvent].map((one) =>
                toPlainJson(one, false),
              ),
            },
            example: exampleOf(SwapEvent),
          },
        },
      },
      responses: {
        204: { description: 'Accepted: it is not sent again.' },
        '4XX': { description: 'Not accepted: it is sent again.' },
        '5XX': { description: 'Not accepted: it is sent again.' },
      },
    },
  },
}

const overview = (serverUrl: string) => `Quote a rate, create an exchange, let the user deposit, poll the status.

- **Authentication**: the header \`x-api-key\`. Each operation states the scope that the key needs.
- **Idempotency**: every POST accepts an \`Idempotency-Key\`. Repeat a create with the same key after a timeout.
- **Limits**: a partner has a weight per minute. The headers \`RateLimit\` and \`RateLimit-Policy\` state what is left; above it the answer is 429 with \`Retry-After\`.
- **Events**: webhooks and an event stream state every change of a status; polling works, too.
- **Statuses**: \`pending\`, \`confirming\`, \`exchanging\`, \`sending\`, then \`finished\`; or \`verifying\`, \`refunding\`, \`refunded\`, \`failed\`.
- **Optional members**: \`null\`, an empty text and absence are the same.
- **Amounts**: plain decimals such as \`0.01\`; trailing zeros do not count as decimals.
- **Errors**: decide by \`code\`. All codes: ${serverUrl}/docs/errors`

/** Builds the OpenAPI 3.1 document from the schemas that the server validates and serialises with. */
export function openApiDocument(
  operations: Readonly<Record<string, RouteDefinition>>,
  { serverUrl }: { serverUrl: string },
): JsonObject {
  const routes = Object.values(operations)
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, route] of Object.entries(operations)) {
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = toOperation(operationId, route)
    paths[route.path] = path
  }
  // Each operation has a 404 of its own.
  const statuses = [...new Set(routes.flatMap(({ errors }) => errors.filter((status) => status !== 404)))]
  const usedTags = [...new Set(routes.map((route) => route.tag))].toSorted()
  return {
    openapi: '3.1.0',
    info: {
      title: 'Swapyard Partner Exchange API',
      version: '1.0.0',
      description: overview(serverUrl),
      contact: { name: 'The operator of this server', url: `${serverUrl}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: 'Error codes', url: `${serverUrl}/docs/errors` },
    servers: [{ url: serverUrl, description: 'This server.' }],
    tags: usedTags.map((name) => ({ name, description: tags[name] })),
    paths,
    ...(usedTags.includes('Events') ? { webhooks: deliveries } : {}),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The API key of the partner.' },
      },
      headers: componentHeaders,
      schemas: componentSchemas(usedTags.includes('Sandbox') ? 'sandbox' : 'production'),
      responses: componentResponses(statuses.toSorted((a, b) => a - b)),
    },
  }
}
