import type { bcs } from '@mysten/sui/bcs'

type Command = typeof bcs.Command.$inferType
type CallArg = typeof bcs.CallArg.$inferType

export type TransactionBody = typeof bcs.TransactionDataV1.$inferType

export const commandsOf = (data: TransactionBody): readonly Command[] =>
  data.kind.ProgrammableTransaction?.commands ?? []
export const inputsOf = (data: TransactionBody): readonly CallArg[] => data.kind.ProgrammableTransaction?.inputs ?? []
