import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compilerSettings, externalSources, probeSources, sources } from './compiler-settings.ts'

/** Compiles the contracts with the compiler from npm into `generated/`. `node contracts/scripts/build.ts --check` only compares. */

type Artifact = {
  abi: readonly { name?: string }[]
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } }
}
type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, Artifact>>
}

const generated = new URL('../generated/', import.meta.url)
const published = {
  'swap-router': ['SwapRouter', sources],
  'swap-executor': ['SwapExecutor', sources],
  'external-executor': ['ExternalExecutor', externalSources],
} as const

function compile(sources: Record<string, { content: string }>): Output['contracts'] {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const wanted = ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object']
  const settings = { ...compilerSettings, outputSelection: { '*': { '*': wanted } } }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }))) as Output
  const faults = output.errors?.filter(({ severity }) => severity !== 'info') ?? []
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return output.contracts
}

/** The text of every generated file, by name. */
export function buildContracts(): Record<string, string> {
  const compiled = new Map([sources, externalSources].map((set) => [set, compile(set)]))
  const files: Record<string, string> = {}
  let abis = '// Made by contracts/scripts/build.ts. The same as in the JSON files, with types that viem can read.\n'
  for (const [file, [name, from]] of Object.entries(published)) {
    const artifact = compiled.get(from)?.[`src/${name}.sol`]?.[name]
    if (artifact === undefined) throw new Error(`${name} was not compiled`)
    const content = { abi: artifact.abi, bytecode: `0x${artifact.evm.bytecode.object}` }
    files[`${file}.json`] = `${JSON.stringify(content, null, 2)}\n`
    const constant = name.charAt(0).toLowerCase() + name.slice(1)
    abis += `\nexport const ${constant}Abi = ${JSON.stringify(artifact.abi, null, 2)} as const\n`
  }
  const probe = compile(probeSources)['src/TransferProbe.sol']?.['TransferProbe']
  if (probe === undefined) throw new Error('TransferProbe was not compiled')
  const probeFile = { abi: probe.abi, code: `0x${probe.evm.deployedBytecode.object}` }
  return { ...files, 'transfer-probe.json': `${JSON.stringify(probeFile, null, 2)}\n`, 'abi.ts': abis }
}

export function staleFiles(): string[] {
  const isStale = ([name, text]: [string, string]) => {
    try {
      return readFileSync(new URL(name, generated), 'utf8') !== text
    } catch {
      return true
    }
  }
  return Object.entries(buildContracts())
    .filter(isStale)
    .map(([name]) => name)
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = staleFiles()
    if (stale.length > 0) throw new Error(`older than the sources: ${stale.join(', ')}`)
  } else {
    for (const [name, text] of Object.entries(buildContracts())) writeFileSync(new URL(name, generated), text)
  }
}
