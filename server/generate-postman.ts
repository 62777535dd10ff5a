/** Writes the Postman collection of the API: `node server/generate-postman.ts`. */
import { writeFileSync } from 'node:fs'
import { openApiDocument, routes } from '@swapyard/schema'
import postman from 'openapi-to-postmanv2'

const target = new URL('../docs/partners/postman.generated.json', import.meta.url)
const SANDBOX_URL = 'http://127.0.0.1:8080'

type Parameter = { key: string; value: string; disabled?: boolean }
type Item = {
  id?: string
  name: string
  item?: Item[]
  response?: unknown[]
  request?: { name?: string; auth?: { type: string }; header?: Parameter[]; url: { query?: Parameter[] } }
}
type Collection = { info: { _postman_id?: string }; item: Item[]; variable: unknown[]; auth?: unknown }

const options = {
  folderStrategy: 'Tags',
  parametersResolution: 'Example',
  includeAuthInfoInExample: false,
  optimizeConversion: false,
} as const

/** The collection of the operations that every server has, with the variables `baseUrl` and `apiKey`. */
export async function createPostmanCollection(): Promise<string> {
  const document = openApiDocument(routes, { serverUrl: SANDBOX_URL })
  const collection = await convert(document)
  delete collection.info._postman_id
  collection.auth = {
    type: 'apikey',
    apikey: [
      { key: 'key', value: 'x-api-key' },
      { key: 'value', value: '{{apiKey}}' },
      { key: 'in', value: 'header' },
    ],
  }
  collection.variable = [
    { key: 'baseUrl', value: SANDBOX_URL },
    { key: 'apiKey', value: 'sandbox' },
  ]
  const required = listRequiredQueries(document)
  for (const item of collection.item) simplify(item, required)
  return `${JSON.stringify(collection, null, 1)}\n`
}

const convert = (document: object): Promise<Collection> =>
  new Promise((resolve, reject) => {
    postman.convertV2(
      { type: 'json', data: document as never },
      options as never,
      (error: unknown, result: unknown) => {
        const { output, reason } = result as { output?: [{ data: Collection }]; reason?: string }
        if (error || output === undefined) reject(error ?? new Error(`no collection: ${reason}`))
        else resolve(output[0].data)
      },
    )
  })

type Operation = { summary: string; parameters?: { in: string; name: string; required?: boolean }[] }

/** The members of the query that each operation needs, by its summary. */
function listRequiredQueries(document: object): ReadonlyMap<string, ReadonlySet<string>> {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> }
  return new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ summary, parameters = [] }) => [
        summary,
        new Set(parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => name)),
      ]),
  )
}

/** Removes what differs between two runs, and the invented example responses. Optional headers and queries are off. */
function simplify(item: Item, required: ReadonlyMap<string, ReadonlySet<string>>): void {
  delete item.id
  for (const child of item.item ?? []) simplify(child, required)
  const { request } = item
  if (request === undefined) return
  item.response = []
  delete request.name
  // The key of the collection is used, except by operations without one.
  if (request.auth?.type === 'apikey') delete request.auth
  else request.auth = { type: 'noauth' }
  for (const member of request.url.query ?? []) {
    member.disabled = !required.get(item.name)?.has(member.key)
    // Without an example the value is drawn.
    if (member.key === 'toAmount') member.value = ''
  }
  for (const header of request.header ?? []) header.disabled = !['Accept', 'Content-Type'].includes(header.key)
}

if (import.meta.main) writeFileSync(target, await createPostmanCollection())
