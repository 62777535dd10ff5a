import '@mantine/core/styles.css'
import { createRoot } from 'react-dom/client'
import './app/focus.css'
import { App } from './app/app.tsx'

/** The server writes a fresh nonce into the page. */
const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''
// The name under which the package get-nonce, which the modals use, looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const root = document.getElementById('root')
if (root) createRoot(root).render(<App nonce={nonce} />)
