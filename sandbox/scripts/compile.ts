import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const folder = new URL('../contracts/', import.meta.url)

type Compiled = { evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }
type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, Compiled>>
}
export type Code = Readonly<{ creation: `0x${string}`; runtime: `0x${string}` }>

/** Compiles contracts of `sandbox/contracts` with solc from npm. */
export function compile<N extends string>(contracts: readonly N[]): Readonly<Record<N, Code>> {
  const solc = require('solc') as {
    compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string
  }
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      contracts.map((name) => [`${name}.sol`, { content: readFileSync(new URL(`${name}.sol`, folder), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      // Without metadata the bytecode, and with it every address, depends only on the code.
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const findImport = (path: string) => {
    try {
      return { contents: readFileSync(require.resolve(path), 'utf8') }
    } catch {
      return { error: `${path} is not installed` }
    }
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport })) as Output
  const failed = output.errors?.filter((error) => error.severity === 'error') ?? []
  if (failed.length > 0) throw new Error(failed.map((error) => error.formattedMessage).join('\n'))
  const toCode = (name: string): Code => {
    const evm = output.contracts[`${name}.sol`]?.[name]?.evm
    if (evm === undefined) throw new Error(`solc returned no code for ${name}`)
    return { creation: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` }
  }
  return Object.fromEntries(contracts.map((name) => [name, toCode(name)])) as Record<N, Code>
}
