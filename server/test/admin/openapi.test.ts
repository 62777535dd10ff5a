import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { adminOpenApiDocument, adminRoutes } from '@swapyard/schema'
import { expect, test } from 'vitest'

type Node = { [key: string]: unknown }
const document: Node = JSON.parse(
  JSON.stringify(
    adminOpenApiDocument(adminRoutes, { serverUrl: 'https://admin.swapyard.test', cookie: '__Host-swapyard' }),
  ),
)
const { paths } = document as { paths: Record<string, Record<string, Node>> }

test("Redocly's recommended-strict finds nothing", async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const lint = (one: Node) => lintFromString({ source: JSON.stringify(one), config })
  expect((await lint(document)).map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  // The linter works: it finds a missing summary.
  const worse = structuredClone(document) as { paths: Record<string, Record<string, Node>> }
  delete worse.paths['/admin/v1/exchanges']?.['get']?.['summary']
  expect((await lint(worse as Node)).map(({ ruleId }) => ruleId)).toContain('operation-summary')
})

test('Spectral finds nothing', async () => {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [oas as unknown as RulesetDefinition] })
  const lint = (one: Node) => spectral.run(JSON.stringify(one))
  expect((await lint(document)).map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual([])
  const [first] = Object.entries(paths)
  const small = { ...document, components: {}, paths: Object.fromEntries(first ? [first] : []), tags: [] }
  expect((await lint(small)).map(({ code }) => code)).toContain('operation-tag-defined')
})

test('every operation has an example of its answer, and a POST one of its body', () => {
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const bodies = [operation['requestBody'], ...Object.values(operation['responses'] as Node)]
      const media = bodies.flatMap((one) => Object.values(((one as Node | undefined)?.['content'] ?? {}) as Node))
      expect([path, media.length > 0, media.every((one) => 'example' in (one as Node))]).toEqual([path, true, true])
      expect([path, (method === 'post') === 'requestBody' in operation]).toEqual([path, true])
    }
})
