import { defineWidget } from './element.ts'
import { findScriptOrigin } from './script-origin.ts'

// While a classic script runs, and only then, `currentScript` is its element: also with `async` and `defer`.
defineWidget(findScriptOrigin(document))
