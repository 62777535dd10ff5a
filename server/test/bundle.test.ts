import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { builds } from '../../scripts/build.mjs'

const dist = join(import.meta.dirname, '../dist')
const textOf = (name: string) => readFileSync(join(dist, name), 'utf8')

/** The files that a process can load, from those that it starts with. Earlier builds leave others. */
function findChunks(): readonly string[] {
  const found = new Set(['main.js', 'router-thread.js', 'child-key-thread.js'])
  for (const name of found)
    for (const [, chunk = ''] of textOf(name).matchAll(/["']\.\/([\w.-]+\.js)["']/g))
      if (existsSync(join(dist, chunk))) found.add(chunk)
  return [...found]
}
const chunks = findChunks()

test('every file that the bundle names by its own place exists', () => {
  const named = chunks.flatMap((name) =>
    [...textOf(name).matchAll(/new URL\(["'](?<path>\.[^"']*)["'], import\.meta\.url\)/g)].map(
      ({ groups }) => groups?.['path'] ?? '',
    ),
  )
  expect(named.length).toBeGreaterThan(10)
  const missing = named.filter(
    (path) => !existsSync(fileURLToPath(new URL(path, pathToFileURL(join(dist, 'main.js'))))),
  )
  expect(missing).toEqual([])
})

test('it is built again after a change of any of its sources', () => {
  const root = join(import.meta.dirname, '../..')
  const sources = chunks.flatMap((name) => {
    const map = join(dist, `${name}.map`)
    const paths = existsSync(map) ? (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources : []
    return paths.map((path) => relative(root, join(dist, path)))
  })
  const own = sources.filter((path) => !path.includes('node_modules') && existsSync(join(root, path)))
  expect(new Set(own.map((path) => path.split('/')[0]))).toEqual(new Set(['contracts', 'lib', 'schema', 'server']))
  const stamped = builds.find(({ script }) => script === 'server/build.ts')?.sources ?? []
  expect(own.filter((path) => !stamped.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([])
})

test('its threads are bundled too', () => {
  const paths = chunks.flatMap((name) => [...textOf(name).matchAll(/["'](?<path>[^"'\s]{1,80}-thread\.[jt]s)["']/g)])
  const names = new Set(paths.map(({ groups }) => groups?.['path']))
  expect(names).toEqual(new Set(['./router-thread.js', './child-key-thread.js']))
})

test('stack traces name our sources', () => {
  const script = `
    const { checkpoint, onCheckpoint } = await import(${JSON.stringify(pathToFileURL(join(dist, 'checkpoint.js')).href)})
    onCheckpoint(() => console.log(new Error('reached').stack))
    checkpoint('create.committed')`
  const stack = execFileSync(process.execPath, ['--enable-source-maps', '--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  const source = readFileSync(join(import.meta.dirname, '../src/core/services/checkpoint.ts'), 'utf8').split('\n')
  const line = source.findIndex((text) => text.includes('listener(name)')) + 1
  expect(stack).toMatch(new RegExp(`server/src/core/services/checkpoint\\.ts:${line}:\\d+`))
})
