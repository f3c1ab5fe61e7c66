import { STAND_IN_NOTICE } from './stand-in.ts'

/** GET /: says to a person with a browser what answers here. */
export const indexPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Local stand-in, not Astra</title>
<h1>Local stand-in, not Astra</h1>
<p>${STAND_IN_NOTICE}</p>
<p>It speaks a part of the Responses API: <code>POST /v1/responses</code> and
<code>GET /v1/responses/{id}</code>, and for background responses
<code>POST /v1/responses/{id}/cancel</code>; with function tools, without streaming.</p>
</html>
`
