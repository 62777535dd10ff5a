import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Abi, Hex } from 'viem'

export type Compiled = Readonly<{ abi: Abi; bytecode: Hex }>

type Output = {
  errors?: readonly { severity: string; formattedMessage: string }[]
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: 'paris',
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

/** Compiles a Solidity file and its imports. Caches the output by its input, because the compiler takes seconds to load. */
export async function compile(path: string): Promise<Readonly<Record<string, Compiled>>> {
  const sources = sourcesOf(path)
  const text = JSON.stringify([settings, Object.values(sources)])
  const key = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const folder = join(tmpdir(), 'swapyard-solc')
  const file = join(folder, `${key}.json`)
  const cached = read(file)
  if (cached) return cached
  const compiled = await run(path, sources)
  mkdirSync(folder, { recursive: true })
  // Two processes may compile concurrently: each writes its own file and renames it atomically.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(compiled))
  renameSync(`${file}.${process.pid}`, file)
  return compiled
}

function read(file: string): Record<string, Compiled> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Compiled>
  } catch {
    return null
  }
}

type Sources = Record<string, { content: string }>

/** The file and its relative imports, by path. */
function sourcesOf(path: string, sources: Sources = {}): Sources {
  if (sources[path]) return sources
  const content = readFileSync(path, 'utf8')
  sources[path] = { content }
  for (const [, imported = ''] of content.matchAll(/^import [^"]*"(\.[^"]+)"/gm))
    sourcesOf(join(dirname(path), imported), sources)
  return sources
}

async function run(path: string, sources: Sources): Promise<Record<string, Compiled>> {
  const { default: solc } = await import('solc')
  const input = { language: 'Solidity', sources, settings }
  const { errors = [], contracts = {} } = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const failed = errors.filter(({ severity }) => severity === 'error')
  if (failed.length > 0) throw new Error(failed.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.fromEntries(
    Object.entries(contracts[path] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` as Hex },
    ]),
  )
}
