import { createPayeeMacs } from '../src/adapters/signers/payee-macs.ts'

/** Codes of payees for stores of tests, under a pepper of their own. */
export const payeeMacs = createPayeeMacs(Buffer.from('a pepper of the tests'))
