-- Each request has the next body of a file, one a line:
--   wrk -s rotate.lua URL -- FILE TOKEN
-- At the end one line of JSON tells what happened.

local requests = {}
local at = 0

function init(arguments)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. arguments[2]
  for body in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, body)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, rates)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "failed": %d, "refused": %d}\n',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
