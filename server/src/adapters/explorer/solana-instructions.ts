import type { TransactionStep } from '../../exchange/ports/explorer.ts'
import { dexOfProgram, readDexSwap } from '../solana/dexes/dexes.ts'
import {
  associatedTokenProgram,
  computeBudgetProgram,
  memoProgram,
  systemProgram,
  token2022Program,
  tokenProgram,
} from '../solana/program-address.ts'
import type { Instruction } from '../solana/transaction.ts'

/** Names of the instructions of a program by their first byte. */
type Named = Readonly<{ title: string; instructions: Readonly<Record<number, string>> }>

const tokenInstructions = {
  ...{ 1: 'initialize account', 3: 'transfer', 7: 'mint', 8: 'burn', 9: 'close account', 12: 'transfer' },
  ...{ 17: 'sync native', 18: 'initialize account' },
}
const programs: Readonly<Record<string, Named>> = {
  [systemProgram]: { title: 'System', instructions: { 0: 'create account', 2: 'transfer' } },
  [tokenProgram]: { title: 'Token', instructions: tokenInstructions },
  [token2022Program]: { title: 'Token-2022', instructions: tokenInstructions },
  [associatedTokenProgram]: { title: 'Associated token', instructions: { 0: 'create', 1: 'create if missing' } },
  [computeBudgetProgram]: { title: 'Compute budget', instructions: { 2: 'unit limit', 3: 'unit price' } },
}

/** For people. Data are shown as hexadecimal digits, a memo as its text. */
export function describeInstruction(instruction: Instruction): TransactionStep {
  const { program, accounts, data } = instruction
  const bytes = Buffer.from(data)
  const isMemo = program === memoProgram
  return {
    ...{ name: isMemo ? 'Memo' : nameOf(instruction), program },
    accounts: accounts.map(({ address }) => address),
    text: bytes.toString(isMemo ? 'utf8' : 'hex'),
  }
}

function nameOf(instruction: Instruction): string {
  const { program, data } = instruction
  const dex = dexOfProgram(program)
  if (dex !== undefined) return readDexSwap(instruction) === null ? dex.title : `${dex.title}: swap`
  const named = programs[program]
  if (named === undefined) return 'Call'
  const instructionName = named.instructions[data[0] ?? 0]
  return instructionName === undefined ? named.title : `${named.title}: ${instructionName}`
}
