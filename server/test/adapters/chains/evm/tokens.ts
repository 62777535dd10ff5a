import { fileURLToPath } from 'node:url'
import { type Compiled, compile } from './compile.ts'

export type { Compiled } from './compile.ts'

/** Test tokens that behave like deployed ones (`contracts/tokens.sol`). Constructor: name, symbol, decimals; FeeToken also feeBps. */
export type TokenName = 'StandardToken' | 'NoReturnToken' | 'FalseToken' | 'FeeToken' | 'RebasingToken' | 'LyingToken'

/** Contracts that send or refuse native currency (`contracts/actors.sol`). */
export type ActorName =
  | 'Forwarder'
  | 'PayingConstructor'
  | 'Exploder'
  | 'Refuser'
  | 'Halter'
  | 'Spinner'
  | 'GasEater'
  | 'L1Oracle'
  | 'IsthmusOracle'

/** ABI and creation bytecode of the test tokens. Anyone may call `mint(to, value)`. */
export async function testTokens(): Promise<Readonly<Record<TokenName, Compiled>>> {
  return (await compile(contract('tokens'))) as Readonly<Record<TokenName, Compiled>>
}

export async function testActors(): Promise<Readonly<Record<ActorName, Compiled>>> {
  return (await compile(contract('actors'))) as Readonly<Record<ActorName, Compiled>>
}

function contract(name: string): string {
  return fileURLToPath(new URL(`./contracts/${name}.sol`, import.meta.url))
}
