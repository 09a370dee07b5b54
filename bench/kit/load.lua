-- What wrk sends: the requests of a file, in rotation, as they stand on the wire; both sides are asked through this.
-- Arguments: FILE [MEAN_PAUSE_MS]. The file holds, again and again, a length in bytes, a line feed, and so many bytes.

local requests, count, position = {}, 0, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  while true do
    local length = file:read("*n")
    if not length then break end
    file:read(1)
    count = count + 1
    requests[count] = file:read(length)
  end
  file:close()
  local pause = tonumber(arguments[2])
  if pause then
    -- Evenly distributed pauses on every connection: arrivals are spread, whatever the server does.
    function delay() return math.random(0, 2 * pause) end
  end
end

function request()
  position = position % count + 1
  return requests[position]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "bytes": %d, "refused": %d, "broken": %d, "p50": %d, "p99": %d, "worst": %d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
