export { type NodeEndpoint, urlOf } from '@swapyard/lib/node-endpoint.ts'
