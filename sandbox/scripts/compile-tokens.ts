import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const folder = new URL('../contracts/', import.meta.url)
export const generatedFile = new URL('../src/generated/tokens.json', import.meta.url)
const contracts = ['ListedToken', 'TetherToken']

type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
}

/** Compiles the sandbox's tokens with the compiler from npm. The text is what stands in `generated/tokens.json`. */
export function compileTokens(): string {
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
      // No metadata: the bytecode, and with it every token's address, depends on the code alone.
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
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
  const creationCode = Object.fromEntries(
    contracts.map((name) => [name, `0x${output.contracts[`${name}.sol`]?.[name]?.evm.bytecode.object ?? ''}`]),
  )
  return `${JSON.stringify(creationCode, null, 2)}\n`
}

if (import.meta.main) writeFileSync(generatedFile, compileTokens())
