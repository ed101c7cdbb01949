select casinos.xmin::text::bigint as document_version, casinos.content_version,
  case when casinos.xmin::text::bigint = $1 then null else casinos.config end as config
from casinos
