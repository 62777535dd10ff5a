export { addAt, replaceAt, type TokenPair } from '@swapyard/lib/token-pair.ts'
